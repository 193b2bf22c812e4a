#pragma once

namespace basal::executors {

/// Does what the environment asks of the recorder, once. Problems are told on stderr.
void obey_recorder_environment();

} // namespace basal::executors
