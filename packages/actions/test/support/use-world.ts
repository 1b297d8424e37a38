import { testService } from '@deedwire/core/test-service';
import { createServiceDatabase } from '@deedwire/store/test-support';
import { afterAll, beforeEach } from 'vitest';
import { createWorld, type World, type WorldBase } from './world.ts';

/** The world of the test service. */
export type ServiceWorld = World<typeof testService>;

/** Creates the world of a test file, which is reset before each test. */
export function useWorld(): Promise<ServiceWorld> {
  return resetBeforeEach(
    createWorld({
      service: testService,
      createDatabase: createServiceDatabase,
      mainInterface: 'customer',
      eventType: 'order.placed',
    }),
  );
}

export async function resetBeforeEach<Created extends WorldBase>(creating: Promise<Created>): Promise<Created> {
  const world = await creating;
  beforeEach(() => world.reset());
  afterAll(() => world.close());
  return world;
}
