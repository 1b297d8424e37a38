import { createServer, type Socket } from 'node:net';
import { listen, type Listening } from './listen.ts';

export interface RawReceiver extends Listening {
  url: string;
}

/**
 * A receiver that writes any bytes to the socket, valid HTTP or not.
 *
 * @param onData called for each chunk that arrives, with the number of its connection, starting at 1
 */
export async function startRawReceiver(onData: (socket: Socket, connection: number) => void): Promise<RawReceiver> {
  let count = 0;
  const server = createServer((socket) => {
    count += 1;
    const connection = count;
    socket.on('data', () => onData(socket, connection));
  });
  const listening = await listen(server);
  return { ...listening, url: `http://127.0.0.1:${listening.port}/hook` };
}
