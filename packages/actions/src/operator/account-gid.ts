import { formatGid, parseGid, type InterfaceName, type RecordId } from '@deedwire/domain';

/** The identifier of an account: of a lender or of a partner. */
export function formatAccountGid(gidNamespace: string, interfaceName: InterfaceName, id: RecordId): string {
  return formatGid(gidNamespace, TYPE_NAMES[interfaceName], id);
}

/** Null when it is not the identifier of an account of this interface. */
export function parseAccountGid(gidNamespace: string, interfaceName: InterfaceName, gid: string): RecordId | null {
  return parseGid(gidNamespace, TYPE_NAMES[interfaceName], gid);
}

const TYPE_NAMES = { lender: 'Lender', partner: 'Partner' } as const;
