import { afterAll, beforeAll, beforeEach } from 'vitest';
import { createWorld, type World } from './world.ts';

/** The world of the test file that imports this module. It is created once, and reset before each test. */
export let world: World;

beforeAll(async () => {
  world = await createWorld();
});

beforeEach(() => world.reset());

afterAll(() => world.close());
