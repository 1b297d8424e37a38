/** A message of a client to PostgreSQL, or of the server. */
export interface Message {
  bytes: Buffer;
  /** What a client runs: the text of a simple query, or the name of a prepared statement. Null for other messages. */
  statement: string | null;
}

/**
 * Splits what one side of a connection sends into messages.
 *
 * @returns a function that takes the next bytes, and returns the messages that are complete
 */
export function createMessageReader(side: 'client' | 'server'): (chunk: Buffer) => Message[] {
  let rest: Buffer = Buffer.alloc(0);
  let isStarted = side === 'server';
  return (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const messages: Message[] = [];
    for (;;) {
      // The first message of a client has no type.
      const typeBytes = isStarted ? 1 : 0;
      if (rest.length < typeBytes + 4) return messages;
      const length = typeBytes + rest.readInt32BE(typeBytes);
      if (rest.length < length) return messages;
      const bytes = rest.subarray(0, length);
      rest = rest.subarray(length);
      messages.push({ bytes, statement: isStarted && side === 'client' ? statementOf(bytes) : null });
      isStarted = true;
    }
  };
}

function statementOf(message: Buffer): string | null {
  const texts = message.toString('latin1', 5).split('\0', 2);
  const type = message.toString('latin1', 0, 1);
  // Query: the text. Bind: the name of the portal, then that of the statement. The store adds a + to names in queries of pg.
  if (type === 'Q') return texts[0] ?? null;
  return type === 'B' ? (texts[1]?.replace(/\+$/, '') ?? null) : null;
}

/** Whether the server responds to this message of a client with `isReady`, after everything else that the message causes. */
export function asksIfReady({ bytes }: Message): boolean {
  // Query, Sync
  return bytes[0] === 0x51 || bytes[0] === 0x53;
}

/** Whether the server is ready for the next statement. It says so once by itself, when the connection begins. */
export function isReady({ bytes }: Message): boolean {
  return bytes[0] === 0x5a;
}
