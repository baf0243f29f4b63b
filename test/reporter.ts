import type { Reporter, TestCase, TestModule } from 'vitest/node';

/**
 * Ends a run with what a person asks first: how many were skipped and why, and one plain line of
 * counts.
 */
export class PlainReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const counts = { passed: 0, failed: errors.length, skipped: 0 };
    const reasons = new Map<string, number>();
    for (const module of modules) {
      if (module.errors().length > 0) counts.failed += 1;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state === 'pending') continue;
        counts[state] += 1;
        if (state !== 'skipped') continue;
        const reason = reasonOf(test);
        reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
      }
    }
    for (const [reason, count] of reasons) console.log(`skipped ${count}: ${reason}`);
    console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
  }
}

// A test says why it is skipped in its note, or a group of tests in brackets behind its name.
function reasonOf(test: TestCase): string {
  const result = test.result();
  if (result.state === 'skipped' && result.note) return result.note;
  return /\(([^)]*)\)/.exec(test.fullName)?.[1] ?? test.fullName;
}
