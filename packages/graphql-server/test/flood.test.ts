import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { platform } from 'node:process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';

let child: ChildProcess | undefined;
afterEach(() => child?.kill('SIGKILL'));

interface Line {
  msg: string;
  time: string;
  address?: string;
  reason?: string;
  suppressedLines?: number;
}

const body = '{}';
const request = `POST /supplier/graphql HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

/** Sends requests at once, and returns the statuses of the responses until the server closes the connection. */
async function pipeline(port: number, count: number, localAddress: string): Promise<string[]> {
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  let received = '';
  socket.on('data', (chunk) => (received += String(chunk))).on('error', () => {});
  socket.write(request.repeat(count));
  await once(socket, 'close');
  return received.match(/HTTP\/1\.1 \d+/g) ?? [];
}

/** Sends requests one after the other. */
async function sendOneByOne(port: number, count: number, localAddress: string): Promise<string[]> {
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  let received = '';
  socket.on('data', (chunk) => (received += String(chunk)));
  const statuses = () => received.match(/HTTP\/1\.1 \d+/g) ?? [];
  for (let sent = 1; sent <= count; sent += 1) {
    socket.write(request);
    await expect.poll(() => statuses().length, { interval: 2 }).toBe(sent);
  }
  socket.destroy();
  return statuses();
}

// Other systems than Linux need to configure the second address.
test.runIf(platform === 'linux')(
  'a flood without a key is bounded and does not displace lines about others',
  async () => {
    const program = fileURLToPath(new URL('flood-process.ts', import.meta.url));
    child = fork(program, { execArgv: ['--conditions=deedwire-source'], stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
    const [port] = await once(child, 'message');

    const connections = 20;
    const flood = Array.from({ length: connections }, () => pipeline(port, 100, '127.0.0.1'));
    const other = sendOneByOne(port, 40, '127.0.0.2');
    for (const statuses of await Promise.all(flood)) {
      // The first 429 is the last response. It can be lost, because the server closes the connection with requests unread.
      expect(statuses.slice(0, -1).every((status) => status === 'HTTP/1.1 401')).toBe(true);
    }
    expect(await other).toEqual(Array(40).fill('HTTP/1.1 401'));

    child.send('metrics');
    const [metrics] = await once(child, 'message');
    const [, rateLimited] = /reason="rate_limited"\} (\d+)/.exec(metrics) ?? [];
    expect(Number(rateLimited)).toBeGreaterThanOrEqual(connections);
    expect(Number(rateLimited)).toBeLessThanOrEqual(8 * connections);

    // Only now does the test read the log.
    const lines: Line[] = [];
    if (child.stdout) createInterface(child.stdout).on('line', (line) => lines.push(JSON.parse(line)));
    child.kill('SIGTERM');
    await once(child, 'close');
    expect(lines.at(-1)?.msg).toBe('stopped');
    expect(lines.filter(({ msg }) => msg === 'request')).toEqual([]);
    const refused = lines.filter(({ msg }) => msg === 'credentials refused');
    expect(refused.filter(({ address }) => address === '127.0.0.2')).toHaveLength(40);

    const limited = refused.filter(({ reason }) => reason === 'rate_limited');
    const times = limited.map(({ time }) => Date.parse(time));
    // The times of lines have milliseconds.
    for (const [index, time] of times.slice(1).entries())
      expect(time - (times[index] ?? 0)).toBeGreaterThanOrEqual(998);
    expect(limited.length).toBeGreaterThan(0);
  },
);
