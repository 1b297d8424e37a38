/** The HTTP layer writes them. Others would contradict it: a proxied response has its own. */
const ofHttpLayer = new Set([
  'cache-control',
  'connection',
  'content-encoding',
  'content-length',
  'keep-alive',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'x-content-type-options',
  'x-request-id',
]);

/** @throws {TypeError} as `Headers` of the Fetch API does, because Node would send no response with such a field */
export function sendableFields(fields: Iterable<readonly [string, string]>): Record<string, string> {
  const sendable: Record<string, string> = {};
  for (const [name, value] of fields) {
    if (!/^[!#$%&'*+.^`|~\w-]+$/.test(name) || !/^[\t\x20-\x7e\x80-\xff]*$/.test(value))
      throw new TypeError(`The header ${JSON.stringify(name)} or its value has characters that HTTP does not allow.`);
    if (!ofHttpLayer.has(name.toLowerCase())) sendable[name] = value;
  }
  return sendable;
}
