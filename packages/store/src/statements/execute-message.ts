/** A value that is sent as its text. */
export type PlainValue = string | number | boolean | bigint | null;

// Execute the unnamed portal without a limit of rows, then Sync.
const executeAndSync = Buffer.from('450000000900000000005300000004', 'hex');
// Results are text.
const noResultFormats = Buffer.alloc(2);
const nullLength = -1;
const bind = 0x42;

/**
 * The messages Bind, Execute and Sync for a prepared statement, in one piece. They are sent by one call of the operating system,
 * and with TLS in one record.
 *
 * @see https://www.postgresql.org/docs/current/protocol-message-formats.html
 */
export function executeMessage(statement: string, values: readonly PlainValue[]): Buffer {
  const texts = values.map((value) => (value === null ? null : String(value)));
  const nameBytes = Buffer.byteLength(statement);
  // The length, the names of the portal and the statement with their ends, the formats of parameters, their number, results.
  let bindBytes = 4 + 1 + nameBytes + 1 + 2 + 2 + noResultFormats.length;
  for (const text of texts) bindBytes += 4 + (text === null ? 0 : Buffer.byteLength(text));
  const message = Buffer.allocUnsafe(1 + bindBytes + executeAndSync.length);
  let at = message.writeUInt8(bind, 0);
  at = message.writeInt32BE(bindBytes, at);
  at = message.writeUInt8(0, at);
  at += message.write(statement, at);
  at = message.writeUInt8(0, at);
  at = message.writeInt16BE(0, at);
  at = message.writeInt16BE(texts.length, at);
  for (const text of texts) {
    if (text === null) {
      at = message.writeInt32BE(nullLength, at);
      continue;
    }
    const written = message.write(text, at + 4);
    at = message.writeInt32BE(written, at) + written;
  }
  at += noResultFormats.copy(message, at);
  executeAndSync.copy(message, at);
  return message;
}
