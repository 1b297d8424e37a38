import { accountTypesOf, type InterfaceName, interfaceOf, type Service, ServiceError } from '@deedwire/core';
import { isObjectType } from 'graphql';
import type { ServedContract } from './serve-contract.ts';

/**
 * Compares the code of an interface with the service.
 *
 * @throws {ServiceError} if it is the code of another interface, or of other versions
 */
export function checkCode(service: Service, name: InterfaceName, { versions }: ServedContract): void {
  const { account, versions: known } = interfaceOf(service, name);
  const list = (of: typeof known): string => of.map(({ version, status }) => `${version} (${status})`).join(', ');
  const [inService, inCode] = [list(known.filter(({ status }) => status !== 'retired')), list(versions)];
  const faults = versions.flatMap(({ version, schema }) => {
    const types = accountTypesOf(service).filter((type) => isObjectType(schema.getType(type)));
    // With nothing but the common half, it has none.
    if (types.length === 0 || types.includes(account)) return [];
    return `the type of its accounts is ${account} in the service; the code of ${version} has ${types.join(', ')}`;
  });
  if (inService !== inCode)
    faults.push(`its versions are ${inService || 'none'} in the service; the code serves ${inCode || 'none'}`);
  if (faults.length > 0) throw new ServiceError(faults.map((fault) => `${JSON.stringify(name)}: ${fault}.`));
}
