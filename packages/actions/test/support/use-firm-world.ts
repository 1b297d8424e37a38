import { testFirm } from '@deedwire/core/test-firm';
import { createMigratedDatabase } from '@deedwire/store/test-support';
import { resetBeforeEach } from './use-world.ts';
import { createWorld, type World } from './world.ts';

/** As `useWorld` of `use-world.ts`, for the tests that do not use the test service yet. */
export function useWorld(): Promise<World<typeof testFirm>> {
  return resetBeforeEach(
    createWorld({
      service: testFirm,
      createDatabase: createMigratedDatabase,
      mainInterface: 'partner',
      eventType: 'referral.created',
    }),
  );
}
