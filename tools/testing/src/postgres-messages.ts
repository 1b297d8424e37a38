/** Splits what a client sends to PostgreSQL into messages, and names the statement that each one runs. */
export interface ClientMessage {
  bytes: Buffer;
  /** The text of a simple query, or the name of a prepared statement. Null for other messages. */
  statement: string | null;
}

/** @returns a function that takes the next bytes of one connection, and returns the messages that are complete */
export function createMessageReader(): (chunk: Buffer) => ClientMessage[] {
  let rest: Buffer = Buffer.alloc(0);
  let isStarted = false;
  return (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const messages: ClientMessage[] = [];
    for (;;) {
      // The first message has no type.
      const typeBytes = isStarted ? 1 : 0;
      if (rest.length < typeBytes + 4) return messages;
      const length = typeBytes + rest.readInt32BE(typeBytes);
      if (rest.length < length) return messages;
      const bytes = rest.subarray(0, length);
      rest = rest.subarray(length);
      messages.push({ bytes, statement: isStarted ? statementOf(bytes) : null });
      isStarted = true;
    }
  };
}

function statementOf(message: Buffer): string | null {
  const texts = message.toString('latin1', 5).split('\0', 2);
  const type = message.toString('latin1', 0, 1);
  // Query: the text. Bind: the name of the portal, then that of the statement.
  if (type === 'Q') return texts[0] ?? null;
  return type === 'B' ? (texts[1] ?? null) : null;
}
