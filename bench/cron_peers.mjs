// cron_peers.mjs EXPRESSIONS.json PACKAGES ZONE...: the same questions to croner and cron-parser; "NAME ZONE RATE" lines.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

const [, , file, packages, ...zones] = process.argv
const peers = createRequire(pathToFileURL(`${packages}/package.json`))
const { Cron } = await import(pathToFileURL(peers.resolve('croner')).href)
const { CronExpressionParser } = peers('cron-parser')
const expressions = JSON.parse(readFileSync(file, 'utf8'))
const base = Date.UTC(2026, 2, 1)
const moment = (i) => new Date(base + (i % 500) * (37 * 60 + 11) * 60000)

const makers = {
  croner: (expression, tz) => {
    const cron = new Cron(expression, { timezone: tz, paused: true })
    return (i) => cron.nextRun(moment(i))
  },
  cron_parser: (expression, tz) => {
    const cron = CronExpressionParser.parse(expression, { currentDate: moment(0), tz })
    return (i) => { cron.reset(moment(i)); return cron.next() }
  },
}

for (const tz of zones)
  for (const [name, make] of Object.entries(makers)) {
    let asked = 0
    let spent = 0
    for (const expression of expressions) {
      const next = make(expression, tz)
      for (let i = 0; i < 50; i++) next(i) // warm up
      const start = performance.now()
      for (let i = 0; i < 500 && performance.now() - start < 250; i++, asked++) next(i)
      spent += performance.now() - start
    }
    console.log(name, tz, Math.round(asked / spent * 1000))
  }
