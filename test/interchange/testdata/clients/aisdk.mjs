// Runs a provider of the Vercel AI SDK for a test: node aisdk.mjs SDK PACKAGE MODEL SETTINGS.
// Requests and answers are lines of JSON-RPC.
//
//   generate {prompt, options}          the answer of generateText
//   stream   {prompt, options, abort}   the answer of streamText, with notifications "part",
//                                       aborted after the first text if abort is set
//   models   {}                         the models that the provider lists
import { createInterface } from 'node:readline'

const [sdk, name, model, settings] = process.argv.slice(2)
const { generateText, streamText } = await import(sdk)
const library = await import(name)
const provider = library.createCodexAppServer({ defaultSettings: JSON.parse(settings) })

const chosen = provider(model)

const tell = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\n')

const call = ({ prompt, options }) => ({
  model: chosen,
  prompt,
  maxRetries: 0,
  providerOptions: options && { 'codex-app-server': options },
})

const answer = ({ text, finishReason, usage, finalStep, providerMetadata }) => ({
  text,
  finishReason,
  usage,
  metadata: finalStep?.providerMetadata ?? providerMetadata,
})

const methods = {
  async generate(params) {
    return answer(await generateText(call(params)))
  },

  async stream(params) {
    const abort = new AbortController()
    const kinds = []
    let text = ''
    let metadata
    const result = streamText({ ...call(params), abortSignal: abort.signal, onError: () => {} })
    for await (const part of result.fullStream) {
      kinds.push(part.type)
      tell({ method: 'part', params: { type: part.type } })
      if (part.type === 'error') throw part.error
      if (part.type === 'finish-step') metadata = part.providerMetadata
      if (part.type === 'text-delta') {
        text += part.text ?? part.delta
        if (params.abort) abort.abort()
      }
    }
    return { text, kinds, metadata }
  },

  async models() {
    return provider.listModels ? provider.listModels() : library.listModels()
  },
}

const running = new Set()
const serve = async ({ id, method, params }) => {
  try {
    tell({ id, result: await methods[method](params) })
  } catch (error) {
    tell({ id, error: { code: 1, message: [error.message, error.cause?.message].filter(Boolean).join(': ') } })
  }
}
for await (const line of createInterface({ input: process.stdin })) {
  const one = serve(JSON.parse(line)).finally(() => running.delete(one))
  running.add(one)
}
await Promise.all(running)
await (provider.close ?? provider.dispose)?.call(provider)
process.exit(0)
