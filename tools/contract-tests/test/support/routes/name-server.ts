import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv4 } from 'node:net';

const typeA = 1;
const typeAaaa = 28;
const headerBytes = 12;

/** Serves A and AAAA records at 127.0.0.1:53. A name without addresses gets an empty answer. */
export async function startNameServer(addresses: ReadonlyMap<string, string>) {
  const socket = createSocket('udp4');
  socket.on('message', (query, peer) => {
    const { name, end } = nameIn(query);
    const type = query.readUInt16BE(end);
    const address = addresses.get(name) ?? '';
    const isFound = address !== '' && type === (isIPv4(address) ? typeA : typeAaaa);
    // A recursive response to one question, with one record or none.
    const header = Buffer.from([query[0] ?? 0, query[1] ?? 0, 0x81, 0x80, 0, 1, 0, isFound ? 1 : 0, 0, 0, 0, 0]);
    const question = query.subarray(headerBytes, end + 4);
    socket.send(
      Buffer.concat([header, question, ...(isFound ? [record(type, address)] : [])]),
      peer.port,
      peer.address,
    );
  });
  socket.bind(53, '127.0.0.1');
  await once(socket, 'listening');
  return { close: () => void socket.close() };
}

/** The name of the question, and where it ends. */
function nameIn(query: Buffer): { name: string; end: number } {
  const labels: string[] = [];
  let at = headerBytes;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), end: at + 1 };
}

/** A record of the name in the question, for a second. */
function record(type: number, address: string): Buffer {
  const data = isIPv4(address) ? Buffer.from(address.split('.').map(Number)) : ipv6Bytes(address);
  return Buffer.concat([Buffer.from([0xc0, headerBytes, 0, type, 0, 1, 0, 0, 0, 1, 0, data.length]), data]);
}

const groups = (text: string): string[] => text.split(':').filter((group) => group !== '');

/** Of an address with one `::`. */
function ipv6Bytes(address: string): Buffer {
  const [start = '', rest = ''] = address.split('::');
  const missing = Array.from({ length: 8 - groups(start).length - groups(rest).length }, () => '0');
  const hex = [...groups(start), ...missing, ...groups(rest)].map((group) => group.padStart(4, '0'));
  return Buffer.from(hex.join(''), 'hex');
}
