import type { Service } from '@deedwire/core';
import { defaultPlaceOf, groupRolesOf } from '@deedwire/store';

/** The statements that remove all that `deedwire migrate` has created, and nothing of the application. */
export function removalStatements(service: Service): string {
  const { schema, rolePrefix } = defaultPlaceOf(service);
  const roles = [...groupRolesOf(service), 'application'].map((role) => `${rolePrefix}${role}`);
  return `-- Stop the application, the workers and the interfaces first. Events, deliveries, subscriptions and API keys are lost.
drop schema if exists ${schema} cascade;
drop schema if exists deedwire_dev cascade; -- of \`deedwire dev\`
-- By a login that may drop roles. Leave it out if the cluster has none of them: another login fails even then.
drop role if exists ${roles.join(', ')};
`;
}
