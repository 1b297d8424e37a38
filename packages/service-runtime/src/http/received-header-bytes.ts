/** An error of Node's HTTP parser. */
export interface ParserError extends Error {
  code?: string | undefined;
  /** The bytes of the connection that arrived together and that the parser did not accept. */
  rawPacket?: Buffer | undefined;
  /** How many bytes of `rawPacket` the parser has read. */
  bytesParsed?: number | undefined;
}

const endOfHeaders = '\r\n\r\n';

/**
 * How many bytes of a request line and headers have arrived, when they are too large. More can follow. Null after an earlier
 * request on the connection: Node does not report where the next one begins.
 *
 * @param bytesRead all bytes of the connection
 */
export function receivedHeaderBytes(
  { rawPacket, bytesParsed = 0 }: ParserError,
  bytesRead: number,
  isFirstRequest: boolean,
): number | null {
  if (!isFirstRequest || rawPacket === undefined) return null;
  // The parser stops within or just after a line: the end of the headers may be in what it has read.
  const end = rawPacket.indexOf(endOfHeaders, Math.max(0, bytesParsed - endOfHeaders.length));
  return end === -1 ? bytesRead : bytesRead - rawPacket.length + end + endOfHeaders.length;
}
