/** Returns the reason why the list cannot be used, with the line to add to `.env`; null for none. */
export function allowListProblem(allowFrom: readonly string[]): string | null {
  if (allowFrom.length > 0) return null;
  return (
    'Nobody is allowed to write on the serial line yet. Add SERIAL_ALLOW_FROM=uart_user to .env, or the ' +
    'sender_id that your device sends, and restart. A line without a sender_id is from uart_user.'
  );
}
