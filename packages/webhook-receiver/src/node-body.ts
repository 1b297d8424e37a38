import type { IncomingMessage } from 'node:http';
import { bodyMax, readChunks, type ReceivedBody } from './body.ts';

/** Where parsers of frameworks that keep the bytes put them. Those of NestJS and Firebase also parse the body. */
export interface KeptBytes {
  body?: unknown;
  rawBody?: unknown;
}

/** @param fix what to change if the bytes cannot be had */
export async function readNodeBody(request: IncomingMessage, fix: string, kept: KeptBytes): Promise<ReceivedBody> {
  const find = () => [kept.rawBody, kept.body].find((bytes) => ArrayBuffer.isView(bytes));
  let view = find();
  if (view === undefined && request.readableFlowing === true && !request.closed) {
    // Something else reads the body now, and may keep the bytes, as `fastify-raw-body` does.
    await new Promise((resolve) => void request.once('close', resolve));
    view = find();
  }
  if (view !== undefined)
    return view.byteLength > bodyMax
      ? { kind: 'too-large' }
      : { kind: 'bytes', bytes: new Uint8Array(view.buffer, view.byteOffset, view.byteLength) };
  if (request.readableDidRead || request.readableEnded) return { kind: 'not-raw', fix };
  // A stream with an encoding has strings, which are not what was signed, and no bytes to count.
  if (typeof request.readableEncoding === 'string')
    return { kind: 'not-raw', fix: 'Do not call request.setEncoding(), which decodes the body.' };
  return readChunks(request.iterator({ destroyOnReturn: false }), request.headers['content-length']);
}
