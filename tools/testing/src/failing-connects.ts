import { once } from 'node:events';
import { createServer } from 'node:net';
import { constants } from 'node:os';
import { onTestFinished } from 'vitest';

export type Errno = keyof typeof constants.errno;

/** When the system reports the failure: from the call of `connect` itself, as for a missing route, or later. */
export type FailsWhen = 'in the same tick' | 'later';

interface ConnectRequest {
  oncomplete(status: number, handle: TcpHandle, request: ConnectRequest, readable: boolean, writable: boolean): void;
}

type Connect = (this: TcpHandle, request: ConnectRequest, address: string, port: number) => number;

interface TcpHandle {
  connect: Connect;
  connect6: Connect;
}

/** Networks for documentation (RFC 5737, RFC 3849), so that no connection ever leaves this machine. */
const documentation = /^(?:192\.0\.2\.|2001:db8:)/;

/**
 * Until the test has ended, lets every connection of this process to an address for documentation fail as if the system had refused it.
 * It replaces what Node calls in libuv, so what Node makes of the failure is real.
 */
export async function failConnects(code: Errno, when: FailsWhen): Promise<void> {
  const handle = await tcpPrototype();
  const { connect, connect6 } = handle;
  const status = -constants.errno[code];
  const failing = (real: Connect): Connect =>
    function failingConnect(request, address, port) {
      if (!documentation.test(address)) return real.call(this, request, address, port);
      if (when === 'in the same tick') return status;
      setImmediate(() => request.oncomplete(status, this, request, true, true));
      return 0;
    };
  Object.assign(handle, { connect: failing(connect), connect6: failing(connect6) });
  onTestFinished(() => void Object.assign(handle, { connect, connect6 }));
}

/** Node exports the class of its TCP handles nowhere else. */
async function tcpPrototype(): Promise<TcpHandle> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const prototype: TcpHandle = Object.getPrototypeOf(Reflect.get(server, '_handle'));
  server.close();
  return prototype;
}
