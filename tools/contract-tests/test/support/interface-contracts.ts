import { interfaceNames, testService } from '@deedwire/core/test-service';

/** Each version of each interface of the test service. Its contracts are in `@deedwire/test-service/contracts`. */
export const served = interfaceNames.flatMap((name) =>
  testService.interfaces[name].versions.map(({ version }) => ({ account: name, date: version })),
);
