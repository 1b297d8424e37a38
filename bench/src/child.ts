import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { Defer } from './with-cleanup.ts';

export interface Child<Request extends number | string | object, Response> {
  /** Its first message, which it sends when it is ready. */
  readonly ready: string;
  /** Rejects if the process ends before it responds. */
  ask: (request: Request) => Promise<Response>;
}

/** Starts a module of this folder as a process, which calls `serveParent`. Errors appear on stderr. */
export async function startChild<Request extends number | string | object, Response>(
  defer: Defer,
  module: string,
  ...args: string[]
): Promise<Child<Request, Response>> {
  const child = fork(new URL(module, import.meta.url), args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const exited = once(child, 'exit');
  defer(async () => {
    if (child.connected) child.disconnect();
    await exited;
  });
  const failed = exited.then(([code]) => Promise.reject(new Error(`${module} ended with exit code ${String(code)}.`)));
  failed.catch(() => {});
  const message = async <Message>(): Promise<Message> => {
    const [value] = await Promise.race([once(child, 'message'), failed]);
    return value;
  };
  return {
    ready: await message<string>(),
    ask(request) {
      child.send(request);
      return message<Response>();
    },
  };
}

/** Milliseconds on a clock that all processes of this machine share. */
export function machineMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** In the module of a child: says that it is ready, answers each message, and ends when the parent disconnects. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- states what the parent sends
export function serveParent<Request>(
  ready: string,
  answer: (request: Request) => unknown,
  close: () => unknown = () => {},
): void {
  process.on('message', (request: Request) => {
    void Promise.resolve(answer(request)).then((response) => process.send?.(response));
  });
  // What a contestant holds open would keep the process running without process.exit.
  process.once('disconnect', () => void Promise.resolve(close()).then(() => process.exit(0)));
  process.send?.(ready);
}
