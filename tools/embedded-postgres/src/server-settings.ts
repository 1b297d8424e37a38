/** Server settings. They are passed at each start, so that they also apply to an existing data directory. */
/** @param major version of the server */
export function serverSettings(port: number, durable: boolean, major: number): string[] {
  const settings: Record<string, string | number> = {
    port,
    listen_addresses: '127.0.0.1',
    // Socket paths have a length limit that deep checkouts exceed.
    unix_socket_directories: '',
    max_connections: 300,
    jit: 'off',
    timezone: 'UTC',
    log_timezone: 'UTC',
    ...scramSettings(major),
    max_wal_senders: 0,
    wal_level: 'minimal',
  };
  // With these two settings off, a killed server loses no data, but a power failure can corrupt it. synchronous_commit
  // stays on, because tests count commits and an immediate stop would otherwise lose acknowledged ones.
  if (!durable) Object.assign(settings, { fsync: 'off', full_page_writes: 'off' });
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

/** Our passwords are random, so more iterations would only make each login slower. PostgreSQL 15 knows no other number. */
export function scramSettings(major: number): Record<string, number> {
  return major >= 16 ? { scram_iterations: 1 } : {};
}
