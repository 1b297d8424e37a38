import { formatGid, parseGid, type InterfaceName, type RecordId } from '@deedwire/domain';

/** The identifier of an account: of a lender or of a partner. */
export function formatAccountGid(gidNamespace: string, interfaceName: InterfaceName, id: RecordId): string {
  return formatGid(gidNamespace, typeNames[interfaceName], id);
}

/** Null when it is not the identifier of an account of this interface. */
export function parseAccountGid(gidNamespace: string, interfaceName: InterfaceName, gid: string): RecordId | null {
  return parseGid(gidNamespace, typeNames[interfaceName], gid);
}

const typeNames = { lender: 'Lender', partner: 'Partner' } as const;
