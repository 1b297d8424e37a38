import type { Server, Socket } from 'node:net';
import {
  listen,
  startRawReceiver,
  startReceiver,
  type Listening,
  type RawReceiver,
  type Receiver,
  type Respond,
} from '@deedwire/testing';
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

/** As `startRawReceiver`. */
export async function rawReceiver(onData: (socket: Socket, connection: number) => void): Promise<RawReceiver> {
  return closedAfterTest(await startRawReceiver(onData));
}

/** Calls `act` every `ms` until the socket has closed. */
export function every(ms: number, socket: Socket, act: () => void): void {
  const timer = setInterval(() => (socket.destroyed ? clearInterval(timer) : act()), ms);
}

function closedAfterTest<Started extends Listening>(started: Started): Started {
  onTestFinished(() => started.close());
  return started;
}
