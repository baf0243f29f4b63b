// Loaded into each Node of a measured command: on its way out it says how much memory it had in use at most.
process.on('exit', () => {
  const peak = `${process.resourceUsage().maxRSS}\n`;
  require('node:fs').appendFileSync(String(process.env.BENCH_PEAKS), peak);
});
