import type { Reporter, TestCase, TestModule } from 'vitest/node';

/**
 * Ends a run with what a person asks first: which tests failed, each with the first line of its error, how many were
 * skipped and why, and one plain line of counts.
 */
export class PlainReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const counts = { passed: 0, failed: errors.length, skipped: 0 };
    const reasons = new Map<string, number>();
    for (const error of errors) console.log(`failed: outside of a test: ${firstLine(error)}`);
    for (const module of modules) {
      const faults = module.errors();
      if (faults.length > 0) counts.failed += 1;
      for (const error of faults)
        console.log(`failed: ${module.relativeModuleId}: ${firstLine(error)}`);
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state === 'pending') continue;
        counts[state] += 1;
        for (const error of test.result().errors ?? [])
          console.log(`failed: ${module.relativeModuleId} > ${test.fullName}: ${firstLine(error)}`);
        if (state !== 'skipped') continue;
        const reason = reasonOf(test);
        reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
      }
    }
    for (const [reason, count] of reasons) console.log(`skipped ${count}: ${reason}`);
    console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
  }
}

function firstLine(error: unknown): string {
  const message =
    error instanceof Object && 'message' in error ? String(error.message) : String(error);
  const line = message.split('\n', 1)[0] ?? '';
  // The result of a command ends with its error.
  return line.length <= 1800 ? line : `${line.slice(0, 300)} … ${line.slice(-1500)}`;
}

// A test says why it is skipped in its note, or a group of tests in brackets behind its name.
function reasonOf(test: TestCase): string {
  const result = test.result();
  if (result.state === 'skipped' && result.note) return result.note;
  return /\(([^)]*)\)/.exec(test.fullName)?.[1] ?? test.fullName;
}
