import { buildPortal } from '../../src/build-portal.ts';

/** Global setup of test projects. Builds once: files that build at the same time would read what another one writes. */
export default (): Promise<void> => buildPortal();
