import { afterAll, beforeEach } from 'vitest';
import { createWorld, type World } from './world.ts';

/** Creates the world of a test file, which is reset before each test. */
export async function useWorld(): Promise<World> {
  const world = await createWorld();
  beforeEach(() => world.reset());
  afterAll(() => world.close());
  return world;
}
