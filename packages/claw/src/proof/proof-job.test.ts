import type { TreeFile } from '@patchclaw/merge';
import { expect, test } from 'vitest';
import type { Digest } from '../digest.ts';
import { describeJobs, type ProofJob, platformOf, readJob } from './proof-job.ts';

const PLATFORM = platformOf({ platform: 'linux', arch: 'x64', version: 'v24.0.0' });
const file = (text: string, isExecutable = false): TreeFile => ({
  bytes: Buffer.from(text),
  isExecutable,
});

function job(changes: Partial<ProofJob> = {}): ProofJob {
  return {
    core: new Map([
      ['a.txt', file('one\n')],
      ['gone.txt', file('gone\n')],
    ]),
    changed: new Map<string, TreeFile | null>([
      ['run.sh', file('#!/bin/sh\n', true)],
      ['gone.txt', null],
    ]),
    tests: [
      {
        skill: 'first',
        files: new Map([['tests/it.test.mjs', file('test')]]),
        test: ['tests/it.test.mjs'],
      },
    ],
    lock: Buffer.from('{}'),
    checks: ['true'],
    testCommand: 'node --test',
    own: { tests: ['*.test.ts'], except: [], command: 'node --test', seconds: 60, most: 40 },
    scope: 'related',
    ...changes,
  };
}

const digestOf = (one: ProofJob) => describeJobs(one.core, PLATFORM)(one).digest;

test('a job that is read again is the same job', async () => {
  const one = job();
  const { digest, content } = describeJobs(one.core, PLATFORM)(one);
  const rounds: number[] = [];
  const read = await readJob(digest, PLATFORM, async (digests) => {
    rounds.push(digests.length);
    return digests.map((each) => content(each) ?? Buffer.alloc(0));
  });
  expect(read).toEqual(one);
  expect(rounds).toEqual([1, 1, 5]);
});

test('whatever a result depends on is in the digest, and the order of files is not', () => {
  const one = job();
  const digest = digestOf(one);
  expect(digestOf(job({ core: new Map([...one.core].toReversed()) }))).toBe(digest);
  const others: Partial<ProofJob>[] = [
    { core: new Map([['a.txt', file('other\n')]]) },
    { changed: new Map([['run.sh', file('#!/bin/sh\n', false)]]) },
    { tests: [] },
    { lock: null },
    { checks: [] },
    { testCommand: null },
    { own: null },
    { scope: 'all' },
  ];
  const digests = others.map((changes) => digestOf(job(changes)));
  digests.push(describeJobs(one.core, 'linux x64 v24.0.1')(one).digest);
  expect(new Set([digest, ...digests]).size).toBe(others.length + 2);
});

test('a job for another platform, or with a path that leaves the tree, is refused', async () => {
  const read = (one: ProofJob, platform = PLATFORM) => {
    const { digest, content } = describeJobs(one.core, PLATFORM)(one);
    const fetch = async (digests: readonly Digest[]) =>
      digests.map((each) => content(each) ?? Buffer.alloc(0));
    return readJob(digest, platform, fetch);
  };
  await expect(read(job(), 'linux x64 v25.0.0')).rejects.toMatchObject({ code: 'SCHEMA_INVALID' });
  for (const path of ['../out', '/etc/passwd', 'a/../../out', 'a//b']) {
    const changed = new Map([[path, file('x')]]);
    await expect(read(job({ changed }))).rejects.toMatchObject({ code: 'SCHEMA_INVALID' });
  }
});
