// Reads a JSON list of {expression, tz, after, both} on stdin; prints a JSON list of the next times after those
// moments, in milliseconds, null for none, a text for what croner refuses.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

const peers = createRequire(pathToFileURL(`${process.argv[2]}/package.json`))
const { Cron } = await import(pathToFileURL(peers.resolve('croner')).href)

function next({ expression, tz, after, both }) {
  try {
    const found = new Cron(expression, { timezone: tz, paused: true, domAndDow: both }).nextRun(new Date(after))
    return found ? found.getTime() : null
  } catch (problem) {
    return String(problem.message)
  }
}

console.log(JSON.stringify(JSON.parse(readFileSync(0, 'utf8')).map(next)))
