/* How the executors of a pool sleep, are woken and stop: sleepers.hpp and the
 * loop of executor.cpp, one step for each atomic operation. Checked by Spin in
 * all interleavings, sequentially consistent. ./check runs the variants:
 *
 * (none)      Items come from outside and from other items; letters go to one
 *             executor. When everything has come to rest, all have been run,
 *             every executor is in the idle set, nobody counts as searching.
 * LONG        Items never end. At rest, no executor sleeps beside an item.
 * TIMEOUTS    Sleeping executors may wake up by themselves at any time.
 * STOP        Somebody stops the pool meanwhile. At rest, all executors have
 *             left, and what was accepted has run.
 * SUSPEND     With STOP: an item may suspend its fiber until a letter comes.
 *
 * START_ASLEEP  Executors start asleep, which leaves room for more work.
 * PATIENCE      Thieves leave items to their owner for a time that may end at any
 *               moment, or until they have something better to do.
 *
 * NO_..., TEST_THEN_CLEAR and PATIENT_LAST_LOOK put a bug in; Spin must find it.
 */

#ifndef WORKERS
#define WORKERS 3 /* 1 to 3 */
#endif

#ifndef ITEMS
#define ITEMS 2
#endif
#ifndef SPAWNS
#define SPAWNS 1
#endif
#ifndef LETTERS
#define LETTERS 1
#endif

#define NOBODY 3
#define LOOK 1
#define SEARCH 2

#define EVERYBODY ((1 << WORKERS) - 1)

#ifdef START_ASLEEP
#define SLEEPERS EVERYBODY
#else
#define SLEEPERS 0
#endif

#ifdef NO_LOOK_AFTER_STOP
#define NOTHING_INJECTED true
#else
#define NOTHING_INJECTED (injected == 0)
#endif

byte injected;         /* items in the injection queue */
byte ring[3];          /* items in an executor's ring */
byte inbox[3];         /* letters for an executor */
byte bits = SLEEPERS;  /* the idle set */
byte searching;
byte token[3];         /* put there by unpark, taken by park */
bool closed;           /* the injection queue takes no more */
bool stopping;

byte spawns = SPAWNS;  /* items that items may still push */
byte pending;          /* items and letters that have not been run */
byte asleep = (SLEEPERS -> WORKERS : 0);
byte gone;
byte waiter = NOBODY;  /* STOP: the executor whose fiber waits */

#define IS_SET(index) ((bits >> index) & 1)

/* Whether a look at the rings, by one who does not steal, sees what is in one. */
#ifdef PATIENT_LAST_LOOK
#define SEEN_IN(index) false
#else
#define SEEN_IN(index) (ring[index] != 0)
#endif

inline unpark(index, t) {
  atomic { assert(token[index] == 0); token[index] = t; index = NOBODY }
}

/* basic_sleepers::notify; `who` is NOBODY before and after */
inline notify() {
  if
  :: searching != 0
  :: else ->
    do
    :: bits == 0 -> break
    :: atomic { /* the load: the lowest bit that is set */
         bits != 0 ->
         if
         :: bits & 1 -> who = 0
         :: !(bits & 1) && (bits & 2) -> who = 1
         :: !(bits & 3) -> who = 2
         fi
       };
       if /* fetch_and */
       :: atomic { IS_SET(who) -> bits = bits & ~(1 << who) };
          searching++;
          unpark(who, SEARCH);
          break
       :: atomic { !IS_SET(who) -> who = NOBODY }
       fi
    od
  fi
}

/* basic_sleepers::wake */
inline wake(index) {
  if
  :: IS_SET(index) ->
    if
    :: atomic { IS_SET(index) -> bits = bits & ~(1 << index); who = index };
       unpark(who, LOOK)
    :: !IS_SET(index)
    fi
  :: else
  fi
}

/* basic_sleepers::stop_searching, with executor_pool::work_for_searchers */
inline stop_searching() {
  if
  :: is_searching ->
    atomic { is_searching = false; assert(searching > 0); searching--; last = (searching == 0) };
    if
    :: last ->
      last = false;
      if
      :: injected != 0 -> notify()
      :: else ->
        if
        :: searching != 0
        :: else ->
          if
          :: SEEN_IN(0) -> notify()
          :: else ->
            if
            :: SEEN_IN(1) -> notify()
            :: else ->
              if
              :: SEEN_IN(2) -> notify()
              :: else
              fi
            fi
          fi
        fi
      fi
    :: else
    fi
  :: else
  fi
}

/* executor::leaves_to_owner, and the theft if it does not */
inline steal_from(index) {
#ifdef PATIENCE
  if
  :: ring[index] != 0 ->
    if
    :: atomic { ring[index] != 0 -> ring[index]-- } -> goto execute
    :: ring[index] == 0
    :: inbox[self] != 0 || injected != 0 || stopping
    fi
  :: else
  fi
#else
  if
  :: atomic { ring[index] != 0 -> ring[index]-- } -> goto execute
  :: else
  fi
#endif
}

proctype worker(byte self) {
  byte who = NOBODY;
  bool is_searching, letter, last;
#ifdef STOP
  bool suspended;
#endif
#ifdef START_ASLEEP
  goto sleep;
#endif

next:
  if
  :: atomic { ring[self] != 0 -> ring[self]-- } -> goto execute
  :: else
  fi;
  if
  :: atomic { inbox[self] != 0 -> inbox[self]--; letter = true } -> goto execute
  :: else
  fi;
  if
  :: atomic { injected != 0 -> injected-- } -> goto execute
  :: else
  fi;
  if /* start_searching */
  :: is_searching
  :: !is_searching && 2 * searching >= WORKERS -> goto found_nothing
  :: !is_searching && 2 * searching < WORKERS -> atomic { searching++; is_searching = true }
  fi;
  steal_from((self + 1) % WORKERS);
  steal_from((self + 2) % WORKERS);
  if
  :: atomic { injected != 0 -> injected-- } -> goto execute
  :: else -> goto found_nothing
  fi;

execute:
  stop_searching();
  if
  :: letter ->
#ifdef STOP
    atomic { assert(suspended); suspended = false; letter = false; pending-- }
#else
    atomic { letter = false; pending-- }
#endif
  :: else ->
    if
    :: atomic { spawns > 0 -> spawns--; pending++; ring[self]++ } -> notify()
    :: true
#ifdef SUSPEND
    :: atomic { waiter == NOBODY -> waiter = self; suspended = true; pending++ }
#endif
    fi;
#ifdef LONG
end_long:
    false;
#endif
    pending--
  fi;
  goto next;

found_nothing:
#ifdef STOP
  /* Each part stays as it is once it is true, or is re-checked by the next
   * round: one step for all of them hides nothing. */
  if
  :: stopping && !suspended && inbox[self] == 0 && NOTHING_INJECTED -> goto leave
  :: else
  fi;
#endif
  /* prepare_sleep */
  atomic { assert(!IS_SET(self)); bits = bits | (1 << self) };
  if
  :: is_searching -> atomic { is_searching = false; assert(searching > 0); searching-- }
  :: else
  fi;
#ifndef NO_LAST_LOOK
  if
  :: inbox[self] != 0 -> goto stay_awake
  :: else
  fi;
  if
  :: injected != 0 -> goto stay_awake
  :: else
  fi;
  if
  :: searching == 0 ->
    if
    :: SEEN_IN((self + 1) % WORKERS) -> goto stay_awake
    :: else
    fi;
    if
    :: SEEN_IN((self + 2) % WORKERS) -> goto stay_awake
    :: else
    fi
  :: else
  fi;
#endif
#ifdef STOP
  if
  :: stopping && !suspended -> goto stay_awake
  :: else
  fi;
#endif
  goto fall_asleep;

stay_awake:
  if /* leave */
  :: atomic { IS_SET(self) -> bits = bits & ~(1 << self) };
     goto out_of_idle_set
  :: !IS_SET(self) /* a token is on its way */
  fi;

fall_asleep:
  asleep++;
sleep:
end_sleep:
  if
  :: atomic { token[self] == SEARCH -> token[self] = 0; is_searching = true; asleep-- };
     goto next
  :: atomic { token[self] == LOOK -> token[self] = 0; asleep-- };
     goto out_of_idle_set
#ifdef TIMEOUTS
  :: asleep-- ->
#ifdef TEST_THEN_CLEAR
    last = IS_SET(self);
    bits = bits & ~(1 << self);
#else
    atomic { last = IS_SET(self); bits = bits & ~(1 << self) };
#endif
    if
    :: last -> last = false /* nobody has claimed it */
    :: else ->
end_claimed:
      if
      :: atomic { token[self] == SEARCH -> token[self] = 0; is_searching = true };
         goto next
      :: atomic { token[self] == LOOK -> token[self] = 0 }
      fi
    fi
#endif
  fi;
  goto out_of_idle_set;

out_of_idle_set:
#ifndef NO_RESUMED_SEARCH
  atomic { searching++; is_searching = true };
#endif
  goto next;

leave:
  stop_searching();
  gone++
}

proctype producer() {
  byte who = NOBODY;
  byte k;
  do
  :: k < ITEMS ->
    if /* under the queue's mutex */
    :: atomic { !closed -> k++; injected++; pending++ } -> notify()
    :: atomic { closed -> k++ }
    fi
  :: else -> break
  od;
#ifndef STOP
  k = 0;
  do
  :: k < LETTERS ->
    atomic { k++; inbox[0]++; pending++ };
    wake(0)
  :: else -> break
  od
#endif
}

#ifdef STOP
proctype stopper() {
  byte who = NOBODY;
  byte k;
  closed = true;
  stopping = true;
#ifndef NO_STOP_WAKE
  do
  :: k < WORKERS -> wake(k); k++
  :: else -> break
  od
#endif
}

#ifdef SUSPEND
/* Ends the wait of the fiber, if one waits. */
proctype waker() {
  byte who = NOBODY;
end_waker:
  waiter != NOBODY;
  inbox[waiter]++;
  wake(waiter)
}
#endif
#endif

/* Goes on when nobody else can. */
proctype at_rest() {
end_at_rest:
  timeout;
#ifdef STOP
  assert(gone == WORKERS);
  assert(pending == 0);
#else
#ifdef LONG
  assert(asleep == 0 || (injected == 0 && ring[0] + ring[1] + ring[2] == 0));
#else
  assert(pending == 0);
  assert(asleep == WORKERS);
  assert(bits == EVERYBODY);
#endif
#endif
  assert(searching == 0)
}

init {
  atomic {
    run worker(0);
#if WORKERS > 1
    run worker(1);
#endif
#if WORKERS > 2
    run worker(2);
#endif
    run producer();
#ifdef STOP
    run stopper();
#endif
#ifdef SUSPEND
    run waker();
#endif
    run at_rest()
  }
}
