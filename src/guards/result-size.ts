import { defineGuard } from '../host/contracts/guard.ts';
import { cutResult } from '../lib/cut-text.ts';

/** A result is part of every further call of the model, so a long one is cut. */
export const guard = defineGuard({
  name: 'result-size',
  order: 900,
  create: () => ({
    after(_call, result) {
      const { ok, value = null } = result;
      const shown = cutResult(value);
      return shown === value ? result : { ok, value: shown };
    },
  }),
});
