/**
 * The values of a header, one for each time that it was sent. `headersDistinct` of node:http has the same values, but collects
 * those of all headers.
 *
 * @param rawHeaders alternating names and values, as in `rawHeaders` of node:http
 * @param name in lower case
 */
export function headerValues(rawHeaders: readonly string[], name: string): string[] {
  const values: string[] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const sent = rawHeaders[index];
    if (sent?.length !== name.length || (sent !== name && sent.toLowerCase() !== name)) continue;
    values.push(rawHeaders[index + 1] ?? '');
  }
  return values;
}
