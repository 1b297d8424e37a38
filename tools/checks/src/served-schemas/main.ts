import { lenderInterface } from '@deedwire/lender-api/lender-interface';
import { sdl as lenderSdl } from '@deedwire/lender-schema';
import { partnerInterface } from '@deedwire/partner-api/partner-interface';
import { sdl as partnerSdl } from '@deedwire/partner-schema';
import { servedDifferences } from './differences.ts';

// A separate process, because the scripts run without the condition that resolves our packages to their sources.
const interfaces = [
  { name: lenderInterface.name, ...lenderInterface.contract, sdl: lenderSdl },
  { name: partnerInterface.name, ...partnerInterface.contract, sdl: partnerSdl },
];
const differences = interfaces.flatMap(servedDifferences);
process.stdout.write(differences.map((line) => `${line}\n`).join(''));
process.exitCode = differences.length > 0 ? 1 : 0;
