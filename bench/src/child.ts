import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';

export interface Child<Request extends number | string | object, Response> {
  /** Rejects if the process ends before it responds. */
  ask(request: Request): Promise<Response>;
  /** Disconnects and waits for the process to end. */
  close(): Promise<void>;
}

/**
 * Starts a module of this folder as a process. Its first message, a string, means that it is ready; then it sends one message
 * per request. Errors appear on stderr.
 */
export async function startChild<Request extends number | string | object, Response>(
  module: string,
  ...args: string[]
): Promise<{ child: Child<Request, Response>; ready: string }> {
  const process = fork(new URL(module, import.meta.url), args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const exited = once(process, 'exit');
  const ready = await message<string>(process, module);
  return {
    ready,
    child: {
      ask(request) {
        process.send(request);
        return message<Response>(process, module);
      },
      async close() {
        if (process.connected) process.disconnect();
        await exited;
      },
    },
  };
}

async function message<Message>(process: ChildProcess, module: string): Promise<Message> {
  const { promise, resolve, reject } = Promise.withResolvers<Message>();
  const onExit = (code: number | null) => reject(new Error(`${module} ended with exit code ${String(code)}.`));
  process.once('message', (value) => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- both sides are in this folder
    resolve(value as Message);
  });
  process.once('exit', onExit);
  try {
    return await promise;
  } finally {
    process.off('exit', onExit);
  }
}
