-- Decides the charges of one request. For each of KEYS there are six arguments:
-- algorithm, rate, period in microseconds, burst, cost, and 1 for a shadow.
-- The answer has four whole numbers for each: allowed, remaining, and the
-- microseconds until the same charge would pass and until nothing is owed.
--
-- A cost below zero gives units back. All charges are made when every one that
-- is no shadow is allowed, none otherwise.
--
-- Lua's numbers are doubles: whole to 2^53, which burst x period in
-- microseconds stays below. What could pass that is taken apart first.
local t = redis.call('TIME')
local now = t[1] * 1000000 + t[2]

-- divide gives the whole quotient and the rest, both exact.
local function divide(a, b)
  local rest = math.fmod(a, b)
  return (a - rest) / b, rest
end

local function roundup(a, b)
  local q, rest = divide(a, b)
  if rest > 0 then q = q + 1 end
  return q
end

-- number reads what this script wrote; nil for anything else.
local function number(text)
  if #text > 16 then return nil end
  local n = tonumber(text)
  if n > 9007199254740992 then return nil end
  return n
end

-- drained is what is left of a debt, after some time at a rate.
local function drained(debt, elapsed, rate)
  local whole = divide(debt, rate)
  if elapsed > whole then return 0 end
  return debt - elapsed * rate
end

-- converted is as many units of another period, rounded up.
local function converted(debt, from, to)
  local units, rest = divide(debt, from)
  if rest == 0 then return units * to end
  if rest * to <= 9007199254740992 then return units * to + roundup(rest * to, from) end
  return units * to + math.ceil(rest / from * to) + 1
end

local kinds = {}

-- GCRA: the state is last:debt:rate:period. A debt falls by rate each
-- microsecond, and a unit costs the period.
kinds.gcra = {
  load = function(c)
    c.debt, c.cap = 0, c.burst * c.period
    if not c.text then return true end
    local last, debt, rate, period = string.match(c.text, '^(%d+):(%d+):(%d+):(%d+)$')
    if not last then return false end
    last, debt, rate, period = number(last), number(debt), number(rate), number(period)
    if not (last and debt and rate and period) or rate < 1 or period < 1 then return false end
    if now < last then
      c.moved = true -- the clock went back: time counts anew from here
    else
      debt = drained(debt, now - last, rate)
    end
    if rate ~= c.rate or period ~= c.period then
      debt, c.moved = converted(debt, period, c.period), true
    end
    c.debt = math.min(debt, c.cap)
    return true
  end,
  decide = function(c)
    c.after = c.debt
    if c.cost < 0 then
      c.after = math.max(0, c.debt + math.max(c.cost, -c.burst) * c.period)
    end
    local need, room = math.max(c.cost, 0) * c.period, c.cap - c.debt
    c.allowed, c.wait = need <= room, 0
    if c.allowed then
      c.after = c.after + need
    else
      c.wait = roundup(need - room, c.rate)
    end
    c.left = divide(c.cap - c.after, c.period)
    c.reset = roundup(c.after, c.rate)
  end,
  -- save writes a debt as of now; nothing owed is no key.
  save = function(c, debt)
    if debt == 0 then return redis.call('DEL', c.key) end
    local ms = roundup(roundup(debt, c.rate), 1000) + 1
    redis.call('SET', c.key, string.format('%.0f:%.0f:%.0f:%.0f', now, debt, c.rate, c.period), 'PX', string.format('%.0f', ms))
  end,
}

local charges, all = {}, true
for i, key in ipairs(KEYS) do
  local a = (i - 1) * 6
  local c = {
    key = key, kind = kinds[ARGV[a + 1]], rate = tonumber(ARGV[a + 2]), period = tonumber(ARGV[a + 3]),
    burst = tonumber(ARGV[a + 4]), cost = tonumber(ARGV[a + 5]), shadow = ARGV[a + 6] == '1',
  }
  c.text = redis.call('GET', key)
  if not c.kind.load(c) then return redis.error_reply('STATE unreadable') end
  c.kind.decide(c)
  all = all and (c.allowed or c.shadow)
  charges[i] = c
end

local answer = {}
for _, c in ipairs(charges) do
  if all and c.allowed and c.after ~= c.debt then
    c.kind.save(c, c.after)
  elseif c.moved and c.cost ~= 0 then
    -- A refusal writes nothing, but for what would else be decided anew each
    -- time from a clock or a quota that is no more.
    c.kind.save(c, c.debt)
  end
  answer[#answer + 1] = c.allowed and 1 or 0
  answer[#answer + 1] = c.left
  answer[#answer + 1] = c.wait
  answer[#answer + 1] = c.reset
end
return answer
