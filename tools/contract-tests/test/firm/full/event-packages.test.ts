import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as events from '@deedwire/webhook-events';
import { testEventPackage } from '../../../../../packages/webhook-receiver/test/support/event-package-suite.ts';

testEventPackage({
  events,
  folder: dirname(fileURLToPath(import.meta.resolve('@deedwire/webhook-events/package.json'))),
  prefix: 'X-Service',
  type: 'referral.created',
  version: '2026-11-01',
  data: { referralId: 'gid://service/Referral/1', externalReference: null },
});
