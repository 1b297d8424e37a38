import type { UserError } from '@deedwire/actions/errors';

/** What all schemas have. It needs nothing of the platform, because its declarations are published. */
export interface BaseTypes {
  DefaultFieldNullability: false;
  Interfaces: {
    UserError: UserError<string>;
  };
  Scalars: {
    DateTime: { Input: Date; Output: Date };
    /** `YYYY-MM-DD`. */
    Date: { Input: never; Output: string };
    ID: { Input: string; Output: string };
    Long: { Input: number; Output: number };
  };
}
