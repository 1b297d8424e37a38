import { createServer, type Server, type Socket } from 'node:net';
import { listen, startReceiver, type Listening, type Receiver, type Respond } from '@deedwire/testing';
import { onTestFinished } from 'vitest';

/** Starts a server. It is closed, with all its connections, when the test has finished. */
export async function listening(server: Server): Promise<Listening> {
  return closedAfterTest(await listen(server));
}

/** A receiver that is an ordinary HTTP server and responds to handshakes as to deliveries. */
export async function httpReceiver(respond: Respond): Promise<Receiver> {
  const path = '/hooks?tenant=1';
  return closedAfterTest(await startReceiver({ path, onHandshake: respond, onDelivery: respond }));
}

/**
 * A receiver that writes any bytes to the socket, valid HTTP or not.
 *
 * @param onData called for each chunk that arrives, with the number of its connection, starting at 1
 */
export async function rawReceiver(onData: (socket: Socket, connection: number) => void) {
  let count = 0;
  const server = createServer((socket) => {
    const connection = (count += 1);
    socket.on('data', () => onData(socket, connection));
  });
  const started = await listening(server);
  return { ...started, url: `http://127.0.0.1:${started.port}/hook` };
}

/** Calls `act` every `ms` until the socket has closed. */
export function every(ms: number, socket: Socket, act: () => void): void {
  const timer = setInterval(() => (socket.destroyed ? clearInterval(timer) : act()), ms);
}

function closedAfterTest<Started extends Listening>(started: Started): Started {
  onTestFinished(() => started.close());
  return started;
}
