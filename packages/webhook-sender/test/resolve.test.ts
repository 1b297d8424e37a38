import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { expect, it, onTestFinished } from 'vitest';
import { dnsResolver } from '../src/resolve.ts';

const typeA = 1;
const typeAaaa = 28;
const noSuchName = 3;

interface Records {
  [typeA]?: readonly number[][];
  [typeAaaa]?: readonly number[][];
}

/**
 * Starts a name server on this machine (RFC 1035, section 4). `zone` returns null for a name that does not exist, and
 * undefined to send no response.
 */
async function nameServer(zone: (name: string) => Records | null | undefined): Promise<string> {
  const socket = createSocket('udp4');
  socket.on('message', (query, { port, address }) => {
    let end = 12;
    const labels: string[] = [];
    while (query[end] !== 0) {
      const length = query[end] ?? 0;
      labels.push(query.toString('latin1', end + 1, end + 1 + length));
      end += 1 + length;
    }
    const question = query.subarray(12, end + 5);
    const type = query.readUInt16BE(end + 1);
    const records = zone(labels.join('.'));
    if (records === undefined) return;
    const answers = (type === typeA ? records?.[typeA] : records?.[typeAaaa]) ?? [];
    const header = Buffer.alloc(12);
    query.copy(header, 0, 0, 2);
    header.writeUInt16BE(0x8180 | (records === null ? noSuchName : 0), 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(answers.length, 6);
    // A pointer to the name in the question, the type, the class IN, a TTL of 60 s.
    const resources = answers.map((bytes) =>
      Buffer.of(0xc0, 12, 0, type, 0, 1, 0, 0, 0, 60, 0, bytes.length, ...bytes),
    );
    socket.send(Buffer.concat([header, question, ...resources]), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  onTestFinished(() => {
    socket.close();
  });
  return `127.0.0.1:${socket.address().port}`;
}

const never = new AbortController().signal;
const ipv6 = [0x26, 6, 0x47, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x11, 0x11];

it('returns the addresses of both families', async () => {
  const resolve = dnsResolver([
    await nameServer(() => ({
      [typeA]: [
        [1, 2, 3, 4],
        [127, 0, 0, 1],
      ],
      [typeAaaa]: [ipv6],
    })),
  ]);
  expect(await resolve('receiver.example', never)).toEqual(['1.2.3.4', '127.0.0.1', '2606:4700::1111']);
});

it('succeeds when only one family has addresses', async () => {
  expect(await dnsResolver([await nameServer(() => ({ [typeA]: [[1, 2, 3, 4]] }))])('a.example', never)).toEqual([
    '1.2.3.4',
  ]);
  expect(await dnsResolver([await nameServer(() => ({ [typeAaaa]: [ipv6] }))])('a.example', never)).toEqual([
    '2606:4700::1111',
  ]);
});

it('rejects with the DNS error code', async () => {
  const resolve = dnsResolver([await nameServer((name) => (name === 'empty.example' ? {} : null))]);
  await expect(resolve('unknown.example', never)).rejects.toMatchObject({ code: 'ENOTFOUND' });
  await expect(resolve('empty.example', never)).rejects.toMatchObject({ code: 'ENODATA' });
});

it('does not use the hosts file', async () => {
  const resolve = dnsResolver([await nameServer(() => null)]);
  await expect(resolve('receiver.localdomain', never)).rejects.toMatchObject({ code: 'ENOTFOUND' });
});

it('cancels a lookup when its signal is aborted, and no other lookup', async () => {
  const server = await nameServer((name) => (name === 'silent.example' ? undefined : { [typeA]: [[1, 2, 3, 4]] }));
  const resolve = dnsResolver([server]);
  const deadline = new AbortController();
  const silent = resolve('silent.example', deadline.signal);
  const otherDeadline = new AbortController();
  const other = resolve('silent.example', otherDeadline.signal);
  setTimeout(() => deadline.abort(), 50);
  await expect(silent).rejects.toMatchObject({ code: 'ECANCELLED' });
  expect(await Promise.race([other, resolve('a.example', never)])).toEqual(['1.2.3.4']);
  otherDeadline.abort();
  await expect(other).rejects.toMatchObject({ code: 'ECANCELLED' });
});
