// Loaded into a measured process: on its way out it says how much memory it had in use at most.
process.on('exit', () => {
  require('node:fs').writeSync(3, String(process.resourceUsage().maxRSS));
});
