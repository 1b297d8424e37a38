import { fail } from 'node:assert/strict';
import { checkMergeableFields } from '@deedwire/operation-analysis';
import { type Choose, richSchema, writeRandomDocument } from '@deedwire/testing';
import * as fc from 'fast-check';
import { buildSchema, OverlappingFieldsCanBeMergedRule, parse, specifiedRules, validate } from 'graphql';
import { RequestError } from '../../src/errors/request-error.ts';
import { createDocumentSteps } from '../../src/operation/read-document.ts';
import { requestLimits } from '../../src/request-limits.ts';
import { customerSdl } from './customer-sdl.ts';
import { hostileDocuments, mutateDocument } from './hostile-documents.ts';
import { readDocument } from './read-document.ts';
import { warmUp } from './warm-up.ts';

const maxErrors = 10;
const otherRules = specifiedRules.filter((rule) => rule !== OverlappingFieldsCanBeMergedRule);

const evenly = (max: number) => fc.noBias(fc.nat({ max }));

/** Calls a function many times with the same sequence of random numbers in each run of the test. */
function repeatedly(numRuns: number, run: (choose: Choose) => void): void {
  fc.assert(
    fc.property(fc.gen(), (gen) => run((below) => gen(evenly, below - 1))),
    { numRuns, seed: 2, endOnFailure: true },
  );
}

/** Fails if merging the fields of a random document gives another verdict than the rule of graphql. Returns the verdicts. */
export function compareMerging(documents: number): { accepted: number; rejected: number } {
  const counts = { accepted: 0, rejected: 0 };
  repeatedly(documents, (choose) => {
    const query = writeRandomDocument(richSchema, choose, { depth: 5, width: 5, fragments: 4 });
    const document = parse(query);
    if (validate(richSchema, document, otherRules).length > 0) return;
    const [expected] = validate(richSchema, document, [OverlappingFieldsCanBeMergedRule]);
    const { errors } = checkMergeableFields(richSchema, document, { maxVisits: 20_000, maxErrors });
    if (errors.length > 0 !== (expected !== undefined)) fail(`${query}\n${String(expected)}\n${String(errors[0])}`);
    counts[expected ? 'rejected' : 'accepted'] += 1;
  });
  process.stdout.write(`${JSON.stringify(counts)}\n`);
  return counts;
}

const schema = buildSchema(customerSdl);
const steps = createDocumentSteps(schema, requestLimits);

/** Reads a document. Returns the CPU time and the error. */
function read(query: string): { cpuMs: number; rejection: RequestError | null } {
  const before = process.cpuUsage();
  let rejection: RequestError | null = null;
  try {
    readDocument(query, steps);
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    rejection = error;
  }
  const { user, system } = process.cpuUsage(before);
  return { cpuMs: (user + system) / 1000, rejection };
}

/** The least of several times: the others contain garbage collection, compilation and other processes. */
function cpuMsOf(query: string): number {
  return Math.min(...Array.from({ length: 5 }, () => read(query).cpuMs));
}

export interface Evolution {
  /** The number of documents with each outcome. */
  outcomes: { valid: number; invalid: number; unparsed: number; refused: number };
  /** The CPU time of the costliest documents. */
  cpuMs: number[];
}

/** Changes documents at random and continues with those that take the most CPU time. Fails if a verdict is wrong. */
export function evolveDocuments(changes: number): Evolution {
  warmUp(schema, requestLimits);
  /** Only documents that parse. Others take less time, and most of their changes do not parse either. */
  let population = Object.values(hostileDocuments).flatMap((query) =>
    read(query).rejection?.code === 'GRAPHQL_PARSE_FAILED' ? [] : [{ query, cpuMs: cpuMsOf(query) }],
  );
  const outcomes = { valid: 0, invalid: 0, unparsed: 0, refused: 0 };

  repeatedly(changes, (choose) => {
    const others = population.map(({ query }) => query);
    let query = others[choose(others.length)] ?? '';
    for (let mutations = 1 + choose(3); mutations > 0; mutations -= 1) query = mutateDocument(query, others, choose);
    const { cpuMs, rejection } = read(query);
    if (rejection?.code === 'GRAPHQL_PARSE_FAILED') {
      outcomes.unparsed += 1;
      return;
    }
    if (rejection?.code === 'OPERATION_TOO_COMPLEX') outcomes.refused += 1;
    else outcomes[rejection ? 'invalid' : 'valid'] += 1;
    if (rejection && rejection.code !== 'OPERATION_TOO_COMPLEX') {
      const { length } = rejection.found;
      if (length < 1 || length > 11) fail(`${length} errors: ${query}`);
    }
    if (!rejection) {
      const [expected] = validate(schema, parse(query), specifiedRules, { maxErrors: 1 });
      if (expected && expected.message !== 'Validation aborted.') fail(`${expected.message}: ${query}`);
    }
    if (cpuMs <= (population[40]?.cpuMs ?? 0)) return;
    population.push({ query, cpuMs: cpuMsOf(query) });
    population = population.toSorted((one, other) => other.cpuMs - one.cpuMs).slice(0, 60);
  });

  process.stdout.write(`${JSON.stringify(outcomes)}\n`);
  const costliest = population.slice(0, 5).map(({ query }) => {
    const cpuMs = cpuMsOf(query);
    const start = query.replaceAll(/\n{5,}/g, (text) => `<${text.length} lines>`).slice(0, 150);
    process.stdout.write(`${cpuMs.toFixed(1)} ms of CPU, ${query.length} characters: ${JSON.stringify(start)}\n`);
    return cpuMs;
  });
  return { outcomes, cpuMs: costliest };
}
