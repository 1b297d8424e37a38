import { testService } from '@deedwire/core/test-service';
import { runOperator } from '@deedwire/operator';
import { build } from '@deedwire/operator-cli/build';

const { env, stdin, stdout, stderr, argv } = process;
const load = async () => ({ service: testService, commands: [] });
process.exitCode = await runOperator(load, { env, stdin, stdout, stderr, build }, argv.slice(2));
