/**
 * A receiver in its own process, so that its CPU time is not measured: `receiver-process.ts <number of ports>`. Each port
 * is a callback URL of another origin. It responds 200 to every request. Its first message is the list of
 * ports, separated by commas.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';

const count = Number(process.argv[2]);

async function listen(): Promise<number> {
  // Longer than a round and a pause, so that the connections outlive the turns of the other contestants.
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    request.resume();
    request.on('end', () => response.end());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no TCP port.');
  return address.port;
}

const ports = await Promise.all(Array.from({ length: count }, listen));
process.send?.(ports.join(','));
process.once('disconnect', () => process.exit(0));
