import dns from 'node:dns';
import { callOperator } from '@deedwire/dev-environment/harness';
import { failConnects } from '@deedwire/testing/failing-connects';
import { expect, onTestFinished, test, vi } from 'vitest';

const env = {
  DATABASE_URL: 'postgres://operator:password@database.example/deedwire',
  DATABASE_TLS: 'off',
  OPERATOR_NAME: 'ops',
};

const unavailable = String.raw`The database is not available\.`;

test.each([
  ['ECONNREFUSED', String.raw`No PostgreSQL server accepts connections at database\.example:5432\. .*`],
  ['ENETUNREACH', unavailable],
  ['EACCES', unavailable],
] as const)(
  'names what failed when the name of the database has two addresses that fail with %s',
  async (code, message) => {
    await failConnects(code, 'in the same tick');
    const addresses = [
      { address: '192.0.2.1', family: 4 },
      { address: '2001:db8::1', family: 6 },
    ];
    const lookup = ((_name: string, _options: unknown, done: (error: null, found: unknown) => void) =>
      process.nextTick(done, null, addresses)) as typeof dns.lookup;
    const mocked = vi.spyOn(dns, 'lookup').mockImplementation(lookup);
    onTestFinished(() => mocked.mockRestore());
    const check = await callOperator(env, 'database', 'check');
    expect(check).toMatchObject({ exitCode: 1 });
    expect(check.stderr + check.stdout).toBe(
      `not tried: whether the database can grow, because the database has other problems.\nerror: The database is not available: ${code}\n`,
    );
    for (const words of [
      ['listener', 'list'],
      ['database', 'migrate'],
    ]) {
      const { exitCode, stderr } = await callOperator(env, ...words);
      expect(exitCode).toBe(1);
      expect(stderr).toMatch(
        new RegExp(
          `^error: ${message} \\(connect ${code} 192\\.0\\.2\\.1:5432.*; connect ${code} 2001:db8::1:5432.*\\)\n$`,
        ),
      );
    }
  },
);
