export interface VectorBody {
  body?: string;
  bodyBase64?: string;
}

interface SignCase extends VectorBody {
  name: string;
  id: string;
  timestamp: number;
  secret: string;
  nextSecret?: string;
  headers: Record<string, string>;
}

export interface VerifyCase extends VectorBody {
  name: string;
  secrets: string[];
  now: number;
  toleranceSeconds?: number;
  headers: [name: string, value: string][];
}

type AcceptCase = VerifyCase & { accept: { id: string | null; timestamp: number } };
type RejectCase = VerifyCase & { reject: string };

/** The content of `test-vectors.json`. */
export interface TestVectors {
  secrets: { valid: string[]; invalid: { why: string; secret: string }[] };
  sign: SignCase[];
  verify: (AcceptCase | RejectCase)[];
}
