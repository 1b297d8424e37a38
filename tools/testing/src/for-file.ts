import { afterAll, onTestFinished } from 'vitest';

interface Closable {
  close?(...parameters: never[]): unknown;
  drop?(...parameters: never[]): unknown;
  end?(...parameters: never[]): unknown;
  remove?(...parameters: never[]): unknown;
  stop?(...parameters: never[]): unknown;
}

const closing = ['close', 'drop', 'end', 'remove', 'stop'] as const;

/** Closes what a test file has opened once its tests have ended: what it opened last is closed first. */
export async function forFile<Opened extends Closable>(opening: Opened | Promise<Opened>): Promise<Opened> {
  const opened = await opening;
  afterAll(() => closeIn(opened));
  return opened;
}

/** Closes what a test has opened once it has ended. */
export async function forTest<Opened extends Closable>(opening: Opened | Promise<Opened>): Promise<Opened> {
  const opened = await opening;
  onTestFinished(() => closeIn(opened));
  return opened;
}

async function closeIn(opened: Closable): Promise<void> {
  for (const name of closing.filter((each) => each in opened).slice(0, 1)) await opened[name]?.();
}
