/** Server settings. They are passed at each start, so that they also apply to an existing data directory. */
export function serverSettings(port: number, durable: boolean): string[] {
  const settings: Record<string, string | number> = {
    port,
    listen_addresses: '127.0.0.1',
    // Socket paths have a length limit that deep checkouts exceed.
    unix_socket_directories: '',
    max_connections: 300,
    jit: 'off',
    timezone: 'UTC',
    log_timezone: 'UTC',
    // Our passwords are random, so more iterations would only make each login slower.
    scram_iterations: 1,
    max_wal_senders: 0,
    wal_level: 'minimal',
  };
  // With these two settings off, a killed server loses no data, but a power failure can corrupt it. synchronous_commit
  // stays on, because tests count commits and an immediate stop would otherwise lose acknowledged ones.
  if (!durable) Object.assign(settings, { fsync: 'off', full_page_writes: 'off' });
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}
