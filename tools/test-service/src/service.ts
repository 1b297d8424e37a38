import { testServiceWith } from '@deedwire/core/test-service';
import { interfaces } from './generated/interfaces.ts';

export const service = testServiceWith(interfaces);
