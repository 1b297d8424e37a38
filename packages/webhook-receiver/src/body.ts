/** The largest body that is read. Deedwire sends at most 256 kB. */
export const bodyMax = 300_000;

/** Why the bytes of a body cannot be had. */
export type BodyProblem =
  | { readonly kind: 'too-large' }
  /** Something read the body before. `fix` says what to change in the receiver, in one line. */
  | { readonly kind: 'not-raw'; readonly fix: string }
  /** The sender closed the connection. */
  | { readonly kind: 'aborted' };

/** The body as received, or why it cannot be had. */
export type ReceivedBody = { readonly kind: 'bytes'; readonly bytes: Uint8Array } | BodyProblem;

/**
 * Reads chunks until the limit. Closes the source when it returns early.
 *
 * @param contentLength the header. With HTTP/2, a body that the sender gave up can end like a complete one.
 */
export async function readChunks(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  contentLength: string | null | undefined,
): Promise<ReceivedBody> {
  const length = Number(contentLength);
  if (length > bodyMax) return { kind: 'too-large' };
  const parts: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const part of chunks) {
      size += part.byteLength;
      if (size > bodyMax) return { kind: 'too-large' };
      parts.push(part);
    }
  } catch {
    return { kind: 'aborted' };
  }
  if (size < length) return { kind: 'aborted' };
  const bytes = new Uint8Array(size);
  let offset = 0;
  for (const part of parts) {
    bytes.set(part, offset);
    offset += part.byteLength;
  }
  return { kind: 'bytes', bytes };
}

/** The body of a fetch `Request`. */
export async function readRequest(request: Request): Promise<ReceivedBody> {
  if (request.bodyUsed || request.body?.locked === true)
    return {
      kind: 'not-raw',
      fix: 'Pass the request before anything reads its body.',
    };
  return readChunks(request.body ? chunksOf(request.body) : [], request.headers.get('content-length'));
}

// Not every runtime can iterate over a stream.
async function* chunksOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}
