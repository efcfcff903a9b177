// Runs the part of Happy that talks to the server for a test: node happy.mjs. It starts codex from PATH.
// Requests and answers are lines of JSON-RPC. A request names a method of that part; its params are the
// arguments. Each event is a notification "event". Each approval is a request "approval", whose result
// is the decision.
import { readdirSync } from 'node:fs'
import { createInterface } from 'node:readline'

// The package exports the part from a file with a hash in its name, under a short name.
const built = new URL('node_modules/happy/dist/', import.meta.url)
const library = await import(new URL(readdirSync(built).find((name) => /^types-.*\.mjs$/.test(name)), built))
const Part = Object.values(library).find((value) => value.name === 'CodexAppServerClient')
const part = new Part()

const tell = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\n')

const decisions = new Map()
part.setEventHandler((event) => tell({ method: 'event', params: event }))
part.setApprovalHandler((params) => {
  const id = `approval-${decisions.size + 1}`
  tell({ id, method: 'approval', params })
  return new Promise((decide) => decisions.set(id, decide))
})

const serve = async ({ id, method, params, result }) => {
  if (!method) return decisions.get(id)(result)
  try {
    tell({ id, result: (await part[method](...params)) ?? null })
  } catch (error) {
    tell({ id, error: { code: 1, message: error.message } })
  }
}
for await (const line of createInterface({ input: process.stdin })) serve(JSON.parse(line))
await part.disconnect()
process.exit(0)
