import { posix } from 'node:path';

/** Resolves an address against the address of the resource around it. An address that is no URL stays as it is. */
export function resolveAddress(address: string, base: string): string {
  const around = base === '' ? undefined : base;
  return URL.canParse(address, around) ? new URL(address, around).href : address;
}

export function withoutFragment(address: string): string {
  return address.split('#', 1)[0] ?? '';
}

/** The decoded fragment of a reference: a JSON Pointer or the name of an anchor. Empty if there is none. */
export function fragmentOf(reference: string): string {
  const at = reference.indexOf('#');
  return at === -1 ? '' : decode(reference.slice(at + 1), decodeURIComponent);
}

/**
 * The path of the file at an address, relative to the first file. The files of schemas with a common base address are next to
 * each other. Null if the address is elsewhere.
 *
 * @param documentPath the path of the file that refers to the address
 * @param rootAddress the address of the root of that file. Empty if it has none
 */
export function pathOf(address: string, documentPath: string, rootAddress: string): string | null {
  const folder = posix.dirname(documentPath);
  if (!/^[a-z][a-z\d+.-]*:/i.test(address)) return posix.join(folder, decode(address, decodeURI));
  const base = rootAddress.slice(0, rootAddress.lastIndexOf('/') + 1);
  if (base === '' || !address.startsWith(base)) return null;
  return posix.join(folder, decode(address.slice(base.length), decodeURI));
}

/** Malformed percent-encoding stays as it is, so that the reference names nothing. */
function decode(text: string, by: (text: string) => string): string {
  try {
    return by(text);
  } catch {
    return text;
  }
}
